/**
 * Runs a command of `postroom`. An error ends it with status 1, and with one line instead of a stack trace: operators read it, and a
 * database that does not respond or an option with a typo is not a fault to investigate.
 * A reader that has seen enough, such as `head`, does not end it.
 * @param what a command, such as `postroom migrate`.
 */
export async function runCommand(what: string, run: () => Promise<void> | void): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  try {
    await run();
  } catch (error) {
    console.error(`${what}: ${errorLine(error)}${isWrongArgument(error) ? ` See ${what} --help.` : ''}`);
    process.exitCode = 1;
  }
}

/** What an error says, without the details that only its developers need. */
export function errorLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node tries each address of a host, and the error for all of them has no message.
  if (error instanceof AggregateError && error.message === '') return errorLine(error.errors[0]);
  // It says no more of what happened.
  if (error.message === 'fetch failed' && error.cause !== undefined) return errorLine(error.cause);
  // The first sentence names the argument, and the others explain `parseArgs`.
  if (isWrongArgument(error)) return error.message.replace(/(\.\s.*)?$/s, '.');
  // Prisma says first where in our code it was called.
  if (error.name.startsWith('Prisma')) return error.message.trim().split('\n').at(-1) ?? error.name;
  return error.message || error.name;
}

/** Whether `parseArgs` threw it. */
const isWrongArgument = (error: unknown) =>
  (error as { code?: string } | null)?.code?.startsWith('ERR_PARSE_ARGS') === true;
