import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Permission } from '../app/permissions.ts';
import { usePermission } from '../app/session.tsx';

/**
 * Whether the dialog for a new record is open. A link with `#new`, as in the command palette, opens it too, for users with the
 * permission to save it.
 */
export function useCreateDialog(needs: Permission): [boolean, (open: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  const isPermitted = usePermission(needs);
  const isLinked = useLocation({ select: ({ hash }) => hash === 'new' });
  const navigate = useNavigate();
  const change = (open: boolean) => {
    setOpen(open);
    if (!open && isLinked)
      void navigate({ to: '.', search: ((search: object) => search) as never, replace: true, resetScroll: false });
  };
  return [isOpen || (isLinked && isPermitted), change];
}
