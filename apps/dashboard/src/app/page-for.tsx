import type { AsyncRouteComponent } from '@tanstack/react-router';
import { useState } from 'react';
import { lazyPage } from './lazy-page.ts';
import type { Permission } from './permissions.ts';
import { usePermission } from './session.tsx';

const NotPermitted = lazyPage(() => import('../pages/not-permitted.tsx'), 'NotPermitted', { forms: false });

/** A page for users with a permission, to which others may have a link. While it is open it stays, so that nothing typed is lost. */
export function pageFor(needs: Permission, Page: AsyncRouteComponent<object>): AsyncRouteComponent<object> {
  function PageIfPermitted() {
    const isPermitted = usePermission(needs);
    const [wasPermitted, setWasPermitted] = useState(isPermitted);
    if (isPermitted && !wasPermitted) setWasPermitted(true);
    return isPermitted || wasPermitted ? <Page /> : <NotPermitted />;
  }
  return Object.assign(PageIfPermitted, Page.preload && { preload: Page.preload });
}
