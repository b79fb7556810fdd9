/** Signature verification per the spec: raw body, constant-time comparison, 300-second tolerance. */
export const SNIPPETS = [
  {
    language: 'Node.js',
    text: `import { createHmac, timingSafeEqual } from 'node:crypto';

/** \`header\` is X-Webhook-Signature, \`body\` the raw bytes, before any JSON parsing. */
export function isFromPostroom(header, body, secret) {
  const { t: timestamp, v1 = '' } = Object.fromEntries(header.split(',').map((part) => part.split('=')));
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const expected = createHmac('sha256', secret).update(\`\${timestamp}.\`).update(body).digest();
  const given = Buffer.from(v1, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}`,
  },
  {
    language: 'Python',
    text: `import hashlib, hmac, time

def is_from_postroom(header: str, body: bytes, secret: str) -> bool:
    """header is X-Webhook-Signature, body the raw bytes, before any JSON parsing."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    timestamp = parts.get("t", "0")
    if abs(time.time() - int(timestamp)) > 300:
        return False
    expected = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(parts.get("v1", ""), expected)`,
  },
  {
    language: 'Go',
    text: `// header is X-Webhook-Signature, body the raw bytes, before any JSON parsing.
func isFromPostroom(header string, body []byte, secret string) bool {
	timestamp, signature, _ := strings.Cut(strings.TrimPrefix(header, "t="), ",v1=")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s", timestamp, body)
	expected := hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(signature), []byte(expected))
}`,
  },
];
