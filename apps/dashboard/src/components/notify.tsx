import { lazy, Suspense, useSyncExternalStore } from 'react';

/** What shows notifications is loaded with the first of them. */
const load = () => import('./notifications.tsx');
const Notifications = lazy(async () => ({ default: (await load()).Notifications }));

let isNeeded = false;
const watchers = new Set<() => void>();

async function needed() {
  isNeeded = true;
  for (const tellWatcher of watchers) tellWatcher();
  return load();
}

/** Says in a corner that something was done; one outcome per act, and refusals stand where the act was asked for. */
export function notifySuccess(message: string): void {
  void needed().then(({ showDone }) => showDone(message));
}

/** Says that something did not work, where there is no form to say it in. */
export function notifyError(message: string): void {
  void needed().then(({ showProblem }) => showProblem(message));
}

/** Where they show; once, beside all pages. */
export function NotificationArea() {
  const show = useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => isNeeded,
  );
  if (!show) return null;
  return (
    <Suspense>
      <Notifications position="bottom-right" />
    </Suspense>
  );
}
