/** Web Crypto. In Node 18 it is not a global; other runtimes never reach the import. */
export async function webCrypto(): Promise<Crypto> {
  const { crypto } = globalThis as { crypto?: Crypto };
  if (crypto !== undefined) return crypto;
  const name = 'node:crypto';
  return ((await import(name)) as { webcrypto: Crypto }).webcrypto;
}
