import { lazy, Suspense, useSyncExternalStore } from 'react';

/** Loads the notification component with the first notification. */
const load = () => import('./notifications.tsx');
const Notifications = lazy(async () => ({ default: (await load()).Notifications }));

let isNeeded = false;
const watchers = new Set<() => void>();

async function needed() {
  isNeeded = true;
  for (const tellWatcher of watchers) tellWatcher();
  return load();
}

/** Shows a success notification. Errors appear where the action was started. */
export function notifySuccess(message: string): void {
  void needed().then(({ showDone }) => showDone(message));
}

/** Shows an error notification, for actions without a form. */
export function notifyError(message: string): void {
  void needed().then(({ showProblem }) => showProblem(message));
}

/** Renders notifications in the flow of the page, so that they never cover a button; mounted once. */
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
      <Notifications withinPortal={false} position="bottom-left" className="notifications" />
    </Suspense>
  );
}
