import assert from 'node:assert/strict';

/** The error of this call, which must fail with an error of this type. */
export async function failureOf<E extends Error>(
  call: Promise<unknown>,
  kind: abstract new (...args: never[]) => E,
): Promise<E> {
  const error: unknown = await call.then(
    () => assert.fail('it should have failed'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof kind, String(error));
  return error;
}
