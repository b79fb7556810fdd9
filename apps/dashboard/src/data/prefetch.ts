/** Leaves the connection to the first page and its charts. */
const WAIT_MS = 3000;
/** Files fetched at a time; a browser has six connections per host. */
const PARALLEL = 2;

let isDone = false;

/**
 * Fetches the code of all pages into the browser's cache when the first page is done, so that they open at once, and
 * also without a connection. Their names contain a hash of their content, and the server lets browsers keep them, so a
 * page never gets code of another version. Does nothing for users who asked their browser to save data.
 */
export function prefetchPages(): () => void {
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (isDone || import.meta.env.DEV || connection?.saveData === true) return () => {};
  const stopped = new AbortController();
  const timer = setTimeout(() => {
    fetchAll(stopped.signal).then(
      () => (isDone = true),
      // The next mount tries again; until then, pages load when they are opened.
      () => {},
    );
  }, WAIT_MS);
  return () => {
    clearTimeout(timer);
    stopped.abort();
  };
}

async function fetchAll(signal: AbortSignal): Promise<void> {
  const load = (path: string) => fetch(path, { priority: 'low', signal });
  const names = (await (await load('/app/files.json')).json()) as string[];
  const fetchNext = async (): Promise<void> => {
    const name = names.pop();
    if (name === undefined) return;
    // The browser keeps only responses that were read to their end.
    await (await load(`/${name}`)).arrayBuffer();
    await fetchNext();
  };
  await Promise.all(Array.from({ length: PARALLEL }, fetchNext));
}
