import type { FieldProblem } from '@postroom/platform';
import { parseTemplate, type TemplateFormat } from './render/index.ts';

/** Something that keeps a text from being sent. */
export interface ContentProblem {
  message: string;
  /** Where it stands in what its author wrote, counted from 1; absent when it is about the whole. */
  line?: number;
  column?: number;
}

/** A flaw with its place, for those who have no editor to show it in. */
export function describeProblem({ line, column, message }: ContentProblem): string {
  if (line === undefined) return message;
  return column === undefined ? `line ${line}, ${message}` : `line ${line}, column ${column}: ${message}`;
}

/** What is wrong with the placeholders of a field: found when it is saved, not when it is sent. */
export function placeholderProblems(field: string, text: string, format: TemplateFormat): FieldProblem[] {
  return parseTemplate(text, format).problems.map((flaw) => ({ field, message: describeProblem(flaw) }));
}
