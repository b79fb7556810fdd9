/** Mirrors the server's password rules (`MIN_PASSWORD_LENGTH` of @postroom/auth). */
export function passwordProblem(password: string): string | null {
  if (password.length < 10) return 'Use at least 10 characters';
  return password.length > 128 ? 'Use at most 128 characters' : null;
}
