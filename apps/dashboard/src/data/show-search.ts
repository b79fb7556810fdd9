import { useNavigate } from '@tanstack/react-router';

/**
 * Replaces the search parameters of the page, such as the filters of a list, without those that are null or undefined. The page keeps
 * its place in the history and stays scrolled where it is.
 */
export function useShowSearch(): (search: object) => void {
  const navigate = useNavigate();
  return (search) => {
    const given = Object.entries(search).filter(([, value]) => value != null);
    void navigate({ to: '.', search: Object.fromEntries(given) as never, replace: true, resetScroll: false });
  };
}
