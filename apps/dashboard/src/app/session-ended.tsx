import { lazyDialog } from '../components/lazy-dialog.tsx';
import type { SessionEndedProps } from './session-ended-dialog.tsx';

/** Shown over a page with unsaved changes once its session has ended. */
export const SessionEnded = lazyDialog<SessionEndedProps>(
  async () => (await import('./session-ended-dialog.tsx')).SessionEndedDialog,
);
