/**
 * Signature verification per the spec: raw body, constant-time comparison, 300-second tolerance. The functions are those of
 * docs/reference/webhooks.md, whose programs are run by a test.
 */
export const SNIPPETS = [
  {
    language: 'Node.js',
    text: `import { createHmac, timingSafeEqual } from 'node:crypto';

/** \`header\` is X-Webhook-Signature, \`body\` the raw bytes, before any JSON parsing. */
function isFromPostroom(header, body, secret) {
  const [, timestamp, signature] = /^t=(\\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const expected = createHmac('sha256', secret).update(\`\${timestamp}.\`).update(body).digest();
  return timingSafeEqual(Buffer.from(signature, 'hex'), expected);
}`,
  },
  {
    language: 'Python',
    text: `import hashlib, hmac, re, time

def is_from_postroom(header, body: bytes, secret: str) -> bool:
    """header is X-Webhook-Signature or None, body the raw bytes, before any JSON parsing."""
    match = re.fullmatch("t=([0-9]{1,12}),v1=([0-9a-f]{64})", header or "")
    if not match or abs(time.time() - int(match[1])) > 300:
        return False
    signed = match[1].encode() + b"." + body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(match[2], expected)`,
  },
  {
    language: 'Go',
    text: `// header is X-Webhook-Signature, body the raw bytes, before any JSON parsing.
func isFromPostroom(header string, body []byte, secret string) bool {
	timestamp, signature, _ := strings.Cut(strings.TrimPrefix(header, "t="), ",v1=")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 300*time.Second {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	given, err := hex.DecodeString(signature)
	return err == nil && hmac.Equal(given, mac.Sum(nil))
}`,
  },
];
