export { addToBody, addToBodyStart } from './body.ts';
export { htmlProblem, MAX_HTML_DEPTH, MAX_HTML_ELEMENTS } from './html-limits.ts';
export { MAX_VARIABLES, parseTemplate } from './template.ts';
export type { Context, Template, TemplateFormat, TemplateProblem, Variable } from './template.ts';
export { markOf, markVariables, sourceOf, splitAtMarks } from './marks.ts';
export { bindValues, missing, renderTemplate, TooLongError, valueFor, variablesOf } from './render.ts';
export type { Value, Values } from './render.ts';
export { decodeEntities } from './entities.ts';
export { escapeHtml } from './escape.ts';
