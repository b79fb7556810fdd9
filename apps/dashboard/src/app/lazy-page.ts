import { lazyRouteComponent } from '@tanstack/react-router';

/** The code of a page is missing because the browser is offline and had not loaded it before. */
export class PageOffline extends Error {}

/** Loads code that shows forms, dialogs or menus, together with their styles. */
export async function withFormStyles<Module>(load: () => Promise<Module>): Promise<Module> {
  const [loaded] = await Promise.all([load(), import('./form-styles.ts')]);
  return loaded;
}

/**
 * A page whose code loads when it is opened. If the code no longer exists, as after an upgrade, the router reloads the
 * browser window. Offline that would lose the window, so the page says why it is missing instead.
 */
export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
  { forms = true }: { forms?: boolean } = {},
) {
  const loadOnline = () =>
    (forms ? withFormStyles(load) : load()).catch((error: unknown) => {
      throw navigator.onLine ? error : new PageOffline('The page is not loaded yet.', { cause: error });
    });
  return lazyRouteComponent(loadOnline, name);
}
