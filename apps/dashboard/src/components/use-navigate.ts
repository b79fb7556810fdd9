import { useNavigate as useRouterNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/**
 * The router's `useNavigate` for what follows a change. If the user has left the page or closed the dialog while the server was busy, it
 * leaves them where they are.
 */
export function useNavigate(): ReturnType<typeof useRouterNavigate> {
  const navigate = useRouterNavigate();
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  return ((options) => (isMounted.current ? navigate(options) : Promise.resolve())) as typeof navigate;
}
