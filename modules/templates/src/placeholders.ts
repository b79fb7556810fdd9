import type { FieldProblem } from '@postroom/platform';

export function placeholderProblems(_field: string, _text: string): FieldProblem[] {
  return [];
}
