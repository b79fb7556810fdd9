import type { html } from '@codemirror/lang-html';

type Tags = NonNullable<NonNullable<Parameters<typeof html>[0]>['extraTags']>;

const attributes = (...names: string[]) => ({ attrs: Object.fromEntries(names.map((name) => [name, null])) });

const BOX = ['padding', 'background-color', 'css-class'];
const WORDS = ['color', 'font-family', 'font-size', 'font-weight', 'line-height', 'align'];

/** MJML tags and common attributes for completion. */
export const MJML_TAGS: Tags = {
  mjml: attributes('lang', 'dir'),
  'mj-head': {},
  'mj-title': {},
  'mj-preview': {},
  'mj-attributes': {},
  'mj-all': attributes(...WORDS, 'padding'),
  'mj-class': attributes('name', ...WORDS, ...BOX),
  'mj-font': attributes('name', 'href'),
  'mj-style': attributes('inline'),
  'mj-breakpoint': attributes('width'),
  'mj-body': attributes('background-color', 'width', 'css-class'),
  'mj-wrapper': attributes(...BOX, 'full-width', 'border-radius'),
  'mj-section': attributes(...BOX, 'background-url', 'full-width', 'direction', 'border-radius', 'text-align'),
  'mj-group': attributes('width', 'background-color', 'direction'),
  'mj-column': attributes(...BOX, 'width', 'border-radius', 'vertical-align'),
  'mj-text': attributes(...WORDS, ...BOX),
  'mj-button': attributes('href', ...WORDS, ...BOX, 'border-radius', 'inner-padding', 'width'),
  'mj-image': attributes('src', 'alt', 'href', 'width', 'height', 'align', ...BOX, 'border-radius', 'fluid-on-mobile'),
  'mj-divider': attributes('border-color', 'border-style', 'border-width', 'width', ...BOX),
  'mj-spacer': attributes('height', 'css-class'),
  'mj-table': attributes(...WORDS, ...BOX, 'cellpadding', 'width'),
  'mj-social': attributes('mode', 'icon-size', ...WORDS, 'padding'),
  'mj-social-element': attributes('name', 'href', 'src', 'alt', ...WORDS),
  'mj-hero': attributes('mode', 'height', 'background-url', 'background-height', 'background-width', ...BOX),
  'mj-navbar': attributes('align', 'base-url', 'hamburger'),
  'mj-navbar-link': attributes('href', ...WORDS, 'padding'),
  'mj-raw': {},
};
