const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * The bucket of a provider's send rate. Amazon SES limits each account per region, so providers whose access keys belong to one account share a
 * bucket.
 */
export const rateScope = (providerId: string, region: string, accessKeyId: string): string =>
  `ses ${awsAccountOf(accessKeyId) ?? providerId} ${region}`;

/**
 * The 12-digit AWS account that an access key belongs to: the 40 bits after the first one of its id, in base32 behind the prefix
 * `AKIA`. Undefined for ids of another form, and for keys from before 2019, which do not contain it.
 */
export function awsAccountOf(accessKeyId: string): string | undefined {
  if (!/^A[KS]IA[A-Z2-7]{16}$/.test(accessKeyId)) return undefined;
  const bits = Array.from(accessKeyId.slice(4, 14)).reduce(
    (sum, letter) => sum * 32n + BigInt(ALPHABET.indexOf(letter)),
    0n,
  );
  const head = bits >> 2n;
  const isSince2019 = head >> 47n === 1n;
  return isSince2019 ? String((head >> 7n) & 0xff_ffff_ffffn).padStart(12, '0') : undefined;
}
