/** How receivers verify a request, as the specification says: the raw body, both signatures after a rotation, 300 seconds. */
export const SNIPPETS = [
  {
    language: 'Node.js',
    text: `import { createHmac, timingSafeEqual } from 'node:crypto';

/** \`header\` is X-Webhook-Signature, \`body\` the raw bytes, before any JSON parsing. */
export function isFromPostroom(header, body, secret) {
  const parts = header.split(',').map((part) => part.split('='));
  const timestamp = parts.find(([name]) => name === 't')?.[1];
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  const expected = createHmac('sha256', secret).update(\`\${timestamp}.\`).update(body).digest();
  return parts
    .filter(([name]) => name === 'v1')
    .some(([, hex]) => hex.length === 64 && timingSafeEqual(Buffer.from(hex, 'hex'), expected));
}`,
  },
  {
    language: 'Python',
    text: `import hashlib, hmac, time

def is_from_postroom(header: str, body: bytes, secret: str) -> bool:
    """header is X-Webhook-Signature, body the raw bytes, before any JSON parsing."""
    parts = [part.split("=", 1) for part in header.split(",")]
    timestamp = next((value for name, value in parts if name == "t"), "0")
    if abs(time.time() - int(timestamp)) > 300:
        return False
    expected = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(value, expected) for name, value in parts if name == "v1")`,
  },
  {
    language: 'Go',
    text: `// header is X-Webhook-Signature, body the raw bytes, before any JSON parsing.
func isFromPostroom(header string, body []byte, secret string) bool {
	var timestamp string
	var signatures []string
	for _, part := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		if name == "t" {
			timestamp = value
		} else if name == "v1" {
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%s", timestamp, body)
	expected := hex.EncodeToString(mac.Sum(nil))
	for _, signature := range signatures {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}`,
  },
];
