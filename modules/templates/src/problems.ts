import type { FieldProblem } from '@postroom/platform';
import { parseTemplate, type TemplateFormat } from '@postroom/templating';

/** A problem that prevents content from being sent. */
export interface ContentProblem {
  message: string;
  /** The line in the source, counted from 1; absent if the problem concerns the whole text. */
  line?: number;
  column?: number;
}

/** Formats a problem with its position, for clients without an editor. */
export function describeProblem({ line, column, message }: ContentProblem): string {
  if (line === undefined) return message;
  return column === undefined ? `line ${line}, ${message}` : `line ${line}, column ${column}: ${message}`;
}

/** Problems with the placeholders of a field, so that they are found when saving, not when sending. */
export function placeholderProblems(field: string, text: string, format: TemplateFormat): FieldProblem[] {
  return parseTemplate(text, format).problems.map((problem) => ({ field, message: describeProblem(problem) }));
}
