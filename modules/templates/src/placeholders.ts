import type { FieldProblem } from '@postroom/platform';
import { parseTemplate, type TemplateFormat } from './render/index.ts';

/** What is wrong with the placeholders of a text, by where it stands: found when it is saved, not when it is sent. */
export function placeholderProblems(field: string, text: string, format: TemplateFormat): FieldProblem[] {
  return parseTemplate(text, format).problems.map(({ line, column, message }) => ({
    field,
    message: `line ${line}, column ${column}: ${message}`,
  }));
}
