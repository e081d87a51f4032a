import { h, type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface CopyButtonProps {
  /** The text to copy. Called when the button is pressed. */
  readonly text: () => string;
}

const noticeMs = 2_000;

/** Copies a text to the clipboard; where the browser does not allow it, shows the text for copying by hand. */
export function CopyButton({ text }: CopyButtonProps): JSX.Element {
  const [notice, setNotice] = useState('');
  const [shown, setShown] = useState<string | null>(null);
  useEffect(() => {
    if (notice === '') return undefined;
    const timer = setTimeout(() => setNotice(''), noticeMs);
    return () => clearTimeout(timer);
  }, [notice]);
  const copy = async (): Promise<void> => {
    const copied = text();
    try {
      await navigator.clipboard.writeText(copied);
      setNotice('Copied');
    } catch {
      // The clipboard is available on https and on localhost only, and if the user allows it.
      setShown(copied);
    }
  };
  return h(
    'span',
    { class: 'copy' },
    h('button', { type: 'button', onClick: () => void copy() }, 'Copy as JSON'),
    h('span', { class: 'copy-notice', role: 'status' }, notice),
    shown === null ? null : h(TextDialog, { text: shown, onClose: () => setShown(null) }),
  );
}

interface TextDialogProps {
  readonly text: string;
  readonly onClose: () => void;
}

function TextDialog({ text, onClose }: TextDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    area.current?.select();
  }, []);
  return h(
    'dialog',
    { ref: dialog, onClose, 'aria-label': 'JSON' },
    h('p', null, 'The browser does not allow this page to copy. The text is selected: copy it with the keyboard.'),
    h('textarea', { ref: area, readOnly: true, rows: 20, 'aria-label': 'JSON', value: text }),
    h('button', { type: 'button', onClick: () => dialog.current?.close() }, 'Close'),
  );
}
