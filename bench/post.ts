/** The data of an `email.sent` event, as JSON. */
export const SENT = JSON.stringify({
  email: 'ada@example.com',
  message_id: 'eml_01k9zq4c8fe1m9v3t5w7y2a4b6',
  subject: 'News in November',
  campaign_id: 'cmp_01k9zq2h6ke4s8x1z3b5d7f9g1',
  contact_id: 'ctc_01k9zq3v5re8rt5xw7m2n4p6q8',
  tags: ['newsletter'],
  metadata: {},
});

/** Sends a POST to the API, and returns the data of its response. @throws Error for a status other than 2xx. */
export async function postTo(
  { url, key }: { url: string; key: string },
  path: string,
  body: unknown = {},
): Promise<{ id: string }> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${text}`);
  return (JSON.parse(text) as { data: { id: string } }).data;
}
