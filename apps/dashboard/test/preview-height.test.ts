import { expect, test } from 'vitest';
import { MAX_PREVIEW_HEIGHT, previewHeight } from '../src/components/preview-height.ts';

test('a short email has a low preview, and a long one or one with images the highest', () => {
  expect(previewHeight('<p>Hello</p>')).toBeLessThan(MAX_PREVIEW_HEIGHT / 2);
  expect(previewHeight('<head><style>p { color: red }</style></head>'.repeat(200) + '<p>Hello</p>')).toBe(
    previewHeight('<p>Hello</p>'),
  );
  expect(previewHeight('<p>A paragraph of a newsletter.</p>'.repeat(40))).toBe(MAX_PREVIEW_HEIGHT);
  expect(previewHeight('<img src="a.png">'.repeat(3))).toBe(MAX_PREVIEW_HEIGHT);
});
