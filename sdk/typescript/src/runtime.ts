/** Web Crypto. Node 18 has it too, but not as a global; other runtimes never get to the import. */
export async function webCrypto(): Promise<Crypto> {
  const { crypto } = globalThis as { crypto?: Crypto };
  if (crypto !== undefined) return crypto;
  const name = 'node:crypto';
  return ((await import(name)) as { webcrypto: Crypto }).webcrypto;
}
