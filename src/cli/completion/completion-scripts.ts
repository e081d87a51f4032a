import { parseFlags } from '../flags/flags.ts';
import { takeOperand } from '../flags/take-operand.ts';
import { type CommandIo, type CommandModule, exitSuccess, usageError } from '../io/command-io.ts';

// The scripts of `nlc completion`. They know no command and no flag: they ask the program, whose answer follows from the
// tables of its commands and flags.

const bash = `# bash completion for nlc. To load it: source <(nlc completion bash)
_nlc_complete() {
  local line="\${COMP_LINE:0:COMP_POINT}" cur out directive prefix="" drop="" head char candidate
  local -a words
  # Bash splits words at = and :, the program does not.
  read -r -a words <<< "$line"
  [[ "$line" =~ [[:space:]]$ ]] && words+=("")
  cur="\${words[\${#words[@]}-1]}"
  out="$("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null)" || return
  directive="\${out##*:}"
  [[ "$directive" =~ ^[0-9]+$ ]] || return
  [[ "$cur" == --*=* ]] && prefix="\${cur%%=*}="
  for char in = :; do
    if [[ "$COMP_WORDBREAKS" == *"$char"* && "$cur" == *"$char"* ]]; then
      head="\${cur%"$char"*}$char"
      (( \${#head} > \${#drop} )) && drop="$head"
    fi
  done
  COMPREPLY=()
  while IFS= read -r candidate; do
    [[ "$candidate" == :* ]] && continue
    candidate="$prefix\${candidate%%$'\\t'*}"
    [[ "$candidate" == "$cur"* ]] && COMPREPLY+=("\${candidate#"$drop"}")
  done <<< "$out"
  (( directive & 2 )) && compopt -o nospace 2>/dev/null
  if (( \${#COMPREPLY[@]} == 0 && (directive & 4) == 0 )); then
    compopt -o filenames 2>/dev/null
    while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "\${cur#"$drop"}")
  fi
  return 0
}
complete -F _nlc_complete nlc
`;

const zsh = `#compdef nlc
# zsh completion for nlc. To load it: source <(nlc completion zsh)
_nlc() {
  local out line directive
  local -a lines plain spaced
  out="$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)" || return 1
  lines=("\${(@f)out}")
  directive="\${lines[-1]#:}"
  for line in "\${(@)lines[1,-2]}"; do
    if [[ "$line" == *$'\\t'* ]]; then
      plain+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    else
      plain+=("\${line//:/\\\\:}")
    fi
  done
  compset -P '--*='
  if (( \${#plain} > 0 )); then
    if (( directive & 2 )); then _describe -t values nlc plain -S ''; else _describe -t values nlc plain; fi
  elif (( (directive & 4) == 0 )); then
    _files
  fi
}
compdef _nlc nlc
`;

const fish = `# fish completion for nlc. To load it: nlc completion fish | source
function __nlc_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct | string collect --allow-empty)
  set -l out ($words[1] __complete $words[2..-1] $current 2>/dev/null)
  or return
  set -l prefix ''
  string match -q -- '--*=*' $current
  and set prefix (string split -m 1 = -- $current)[1]=
  set -l found 0
  for line in $out
    string match -q -- ':*' $line
    and continue
    set found 1
    echo $prefix$line
  end
  set -l directive (string replace ':' '' -- $out[-1])
  if test $found -eq 0 -a "$directive" = 0
    __fish_complete_path $current
  end
end
complete -c nlc -f -a '(__nlc_complete)'
`;

const completionScripts: ReadonlyMap<string, string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
]);

/** `nlc completion SHELL`. */
export const completion: CommandModule = { run: async (argv, io) => printCompletion(argv, io) };

function printCompletion(argv: readonly string[], io: CommandIo): number {
  const { operand, others } = takeOperand(argv, []);
  const script = completionScripts.get(operand ?? '');
  const got = operand === undefined ? 'got none' : `got ${JSON.stringify(operand)}`;
  const shellProblem = `SHELL: must be one of ${[...completionScripts.keys()].join(', ')} (${got})`;
  const problems = [...(script === undefined ? [shellProblem] : []), ...parseFlags(others, []).problems];
  if (script === undefined || problems.length > 0) return usageError(io, 'completion', problems, 'arguments');
  io.stdout(script);
  return exitSuccess;
}
