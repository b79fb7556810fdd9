import type { FieldProblem } from '@postroom/platform';
import { escapeHtml } from '@postroom/templating';
import type { ShownField } from './forms.ts';
import type { Form } from './ids.ts';
import type { PublicForm } from './public-form.ts';

/** A field that people can't see, so only programs fill it in. */
export const HONEYPOT_FIELD = 'contact_by_fax';
/** The field with the token of the page. */
export const PAGE_TOKEN = 'page';

export const FORM_STYLE = `
  main input:not([type=checkbox]), main select { box-sizing: border-box; width: 100%; height: auto; margin: .25rem 0 0; padding: .6rem .75rem; font: inherit; color: inherit; background: transparent; border: 1px solid #70757e; border-radius: .5rem }
  main select option { color: #1c2430 }
  main .description { white-space: pre-line }
  main .trap { display: none }
  main .errors { border: 2px solid #e03131; border-radius: .5rem; padding: .6rem .75rem }
  main .errors ul { margin: 0; padding: 0 0 0 1.1rem }
  main .error { display: block; font-size: .875rem; font-weight: 600 }
  main .fields { margin: 0 0 1rem }
  main .optional { opacity: .8 }
  main a { color: inherit }`;

/** What the fields of a page contain, by the name of the input. */
export type Values = Readonly<Record<string, string>>;

interface FormPage {
  fields: readonly ShownField[];
  values?: Values;
  problems?: readonly FieldProblem[];
  token: string;
}

const EMAIL: ShownField = { key: 'email', label: 'Email', required: true, type: 'text', options: [] };

const CONSENT_LABEL = 'Your consent';

/** A problem of a field, such as `is required`, as a sentence. */
const sentence = (label: string, problem: string) => `${label} ${problem}.`;

const errorOf = (key: string, label: string, problem: string | undefined) =>
  problem === undefined
    ? ''
    : `<span class="error" id="${escapeHtml(key)}-error">${escapeHtml(sentence(label, problem))}</span>`;

/** The body of a page with a form. It works without scripts. */
export function formBody(form: PublicForm, { fields, values = {}, problems = [], token }: FormPage): string {
  const problemOf = new Map(problems.map(({ field, message }) => [field, message]));
  const labels = new Map([
    ['email', 'Email'],
    ['consent', CONSENT_LABEL],
    ...fields.map(({ key, label }) => [key, label] as const),
  ]);
  const inputs = [EMAIL, ...fields].map((field) => input(field, values[field.key] ?? '', problemOf.get(field.key)));
  return `${form.description === null ? '' : `<p class="description">${escapeHtml(form.description)}</p>`}${summary(problems, labels)}
<form method="post"><div class="fields">
${inputs.join('\n')}
${form.consentText === null ? '' : consent(form.consentText, values['consent'] !== undefined, problemOf.get('consent'))}
</div><div class="trap" aria-hidden="true"><label>Leave this empty<input name="${HONEYPOT_FIELD}" tabindex="-1" autocomplete="off"></label></div>
<input type="hidden" name="${PAGE_TOKEN}" value="${escapeHtml(token)}">
<button>Subscribe</button></form>`;
}

function summary(problems: readonly FieldProblem[], labels: ReadonlyMap<string, string>): string {
  if (problems.length === 0) return '';
  const items = problems.map(({ field, message }) => {
    const label = labels.get(field);
    return label === undefined
      ? `<li>${escapeHtml(message)}</li>`
      : `<li><a href="#${escapeHtml(field)}">${escapeHtml(sentence(label, message))}</a></li>`;
  });
  return `<div class="errors" role="alert"><ul>${items.join('')}</ul></div>`;
}

function input(field: ShownField, value: string, problem: string | undefined): string {
  const { key, label, required } = field;
  const id = escapeHtml(key);
  const described = problem === undefined ? '' : ` aria-invalid="true" aria-describedby="${id}-error"`;
  const attributes = `id="${id}" name="${id}"${required ? ' required' : ''}${described}`;
  const error = errorOf(key, label, problem);
  const text = `${escapeHtml(label)}${required ? '' : ' <span class="optional">(optional)</span>'}`;
  if (field.type === 'boolean')
    return `<label><input type="checkbox" ${attributes} value="true"${value === '' ? '' : ' checked'}>${text}</label>${error}`;
  return `<label for="${id}">${text}</label>${control(field, attributes, value)}${error}`;
}

function control({ key, type, options }: ShownField, attributes: string, value: string): string {
  if (type === 'select') {
    const choices = ['', ...options].map(
      (option) =>
        `<option value="${escapeHtml(option)}"${option === value ? ' selected' : ''}>${escapeHtml(option)}</option>`,
    );
    return `<select ${attributes}>${choices.join('')}</select>`;
  }
  const kind = key === 'email' ? EMAIL_INPUT : key === 'name' ? 'autocomplete="name"' : INPUTS[type];
  return `<input ${kind} ${attributes}${value === '' ? '' : ` value="${escapeHtml(value)}"`}>`;
}

/** Browsers accept only ASCII before the `@` of `type="email"`; the server takes other addresses too, and names what is wrong. */
const EMAIL_INPUT = 'type="text" inputmode="email" autocapitalize="none" autocomplete="email"';

const INPUTS = {
  text: 'type="text"',
  number: 'type="text" inputmode="decimal"',
  date: 'type="date"',
  boolean: '',
} as const;

function consent(text: string, isTicked: boolean, problem: string | undefined): string {
  const described = problem === undefined ? '' : ' aria-invalid="true" aria-describedby="consent-error"';
  const error = errorOf('consent', CONSENT_LABEL, problem);
  return `<label class="description"><input type="checkbox" id="consent" name="consent" value="true" required${isTicked ? ' checked' : ''}${described}>${escapeHtml(text)}</label>${error}`;
}

/** HTML to paste into a page of another site. It needs no scripts; styles are the site's own. */
export function embedHtml(
  { consentText }: Pick<Form, 'consentText'>,
  fields: readonly ShownField[],
  url: string,
): string {
  const inputs = [EMAIL, ...fields].map((field) => {
    const { key, label, required, type } = field;
    const attributes = `name="${escapeHtml(key)}"${required ? ' required' : ''}`;
    if (type === 'boolean')
      return `  <label><input type="checkbox" ${attributes} value="true"> ${escapeHtml(label)}</label>`;
    return `  <label>${escapeHtml(label)} ${control(field, attributes, '')}</label>`;
  });
  const agreement = `  <label><input type="checkbox" name="consent" value="true" required> ${escapeHtml(consentText ?? '')}</label>`;
  return `<form action="${escapeHtml(url)}" method="post" accept-charset="utf-8">
${[...inputs, ...(consentText === null ? [] : [agreement])].join('\n')}
  <div style="display: none" aria-hidden="true"><input name="${HONEYPOT_FIELD}" tabindex="-1" autocomplete="off"></div>
  <button>Subscribe</button>
</form>
`;
}
