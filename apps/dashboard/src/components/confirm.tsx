import type { ConfirmProps } from './confirm-dialog.tsx';
import { lazyDialog } from './lazy-dialog.tsx';

/** A confirmation dialog. */
export const Confirm = lazyDialog<ConfirmProps>(async () => (await import('./confirm-dialog.tsx')).ConfirmDialog);
