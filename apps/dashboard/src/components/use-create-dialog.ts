import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

/** Whether the dialog for a new record is open. A link with `#new`, as in the command palette, opens it too. */
export function useCreateDialog(): [boolean, (open: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  const isLinked = useLocation({ select: ({ hash }) => hash === 'new' });
  const navigate = useNavigate();
  const change = (open: boolean) => {
    setOpen(open);
    if (!open && isLinked)
      void navigate({ to: '.', search: ((search: object) => search) as never, replace: true, resetScroll: false });
  };
  return [isOpen || isLinked, change];
}
