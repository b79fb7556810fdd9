export { parseTemplate } from './template.ts';
export type { Context, Template, TemplateFormat, TemplateProblem, Variable } from './template.ts';
export { missing, renderTemplate, valueFor, variablesOf } from './render.ts';
export type { Value, Values } from './render.ts';
export { decodeEntities } from './entities.ts';
export { escapeHtml } from './escape.ts';
