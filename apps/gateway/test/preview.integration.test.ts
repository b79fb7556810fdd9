import { signedIn, testApi } from '@postroom/testkit';
import { expect, test } from 'vitest';

async function previewer() {
  const api = await testApi();
  const person = await signedIn(api);
  return (form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${api.url}/app/preview`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { cookie: person.cookie, ...headers },
    });
}

test('a preview shows the posted HTML with its placeholders filled in, escaped', async () => {
  const preview = await previewer();
  const response = await preview({
    html: '<html><head></head><p>Hello {{name|there}} of {{city|your town}}</p></html>',
    values: JSON.stringify({ name: '<b>Ada</b>' }),
  });
  expect(await response.text()).toContain('<p>Hello &lt;b&gt;Ada&lt;/b&gt; of your town</p>');
});

test('a preview has its own origin, runs no script and loads images only when asked', async () => {
  const preview = await previewer();
  const policyOf = async (form: Record<string, string>) =>
    (await preview({ html: '<script>1</script>', ...form })).headers.get('content-security-policy');
  expect(await policyOf({})).toContain('sandbox allow-popups allow-popups-to-escape-sandbox');
  expect(await policyOf({})).not.toMatch(/allow-scripts|allow-same-origin|script-src|https:/);
  expect(await policyOf({ images: 'yes' })).toContain('img-src data: https: http:');
});

test('an invalid placeholder is reported above the preview', async () => {
  const preview = await previewer();
  const response = await preview({ html: '<p>\n{{#if}}</p>' });
  expect(await response.text()).toContain('Line 2: &quot;#if&quot; is a command');
});

test('only signed-in users can render previews, and no other site', async () => {
  const api = await testApi();
  const anonymous = await fetch(`${api.url}/app/preview`, { method: 'POST', body: new URLSearchParams({ html: 'x' }) });
  expect(anonymous.status).toBe(401);
  // A frame of the dashboard shows why.
  expect(await anonymous.text()).toContain('Sign in first.');
  expect(anonymous.headers.get('content-security-policy')).toContain("frame-ancestors 'self'");
  const preview = await previewer();
  expect((await preview({ html: 'x' }, { origin: 'https://elsewhere.example' })).status).toBe(403);
  expect((await preview({ html: 'x' }, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
});
