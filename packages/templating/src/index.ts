export { addToBody, addToBodyStart, blankComments } from './body.ts';
export { countTags, htmlProblem, MAX_HTML_DEPTH, MAX_HTML_ELEMENTS } from './html-limits.ts';
export { parseTemplate } from './parse.ts';
export { linkSlots, literalTemplate, MAX_SLOTS } from './template.ts';
export type { Context, Slot, Template, TemplateFormat, TemplateProblem, Variable } from './template.ts';
export { MARK, markOf, markSlots, sourceOf, splitAtMarks, unconditionalSource } from './marks.ts';
export {
  bindValues,
  isAlwaysBlank,
  MAX_MESSAGE_WORK,
  missing,
  MAX_SUBJECT_LENGTH,
  renderForRecipient,
  renderSubject,
  renderPieces,
  renderTemplate,
  valueFor,
  variablesOf,
} from './render.ts';
export type { Computed, Values } from './render.ts';
export { Scope } from './scope.ts';
export { RenderError } from './values.ts';
export { decodeEntities } from './entities.ts';
export { escapeHtml, subjectLine } from './escape.ts';
