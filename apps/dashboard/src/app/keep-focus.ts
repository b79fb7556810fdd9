/**
 * Gives the keyboard's focus back to buttons. A button is disabled while its request runs, and what is disabled loses the focus: in a dialog,
 * the next Tab would then leave the dialog. After a dialog whose button is gone, such as that of a record that it archived, the next Tab leads
 * to the first control of the page: by itself it would leave the page, at whose end dialogs are.
 */
export function keepFocus(): void {
  let lost: HTMLButtonElement | undefined;
  const observer = new MutationObserver((changes) => {
    for (const { target } of changes) {
      if (!(target instanceof HTMLButtonElement)) continue;
      if (target.disabled && target === document.activeElement) lost = target;
      if (target.disabled || target !== lost) continue;
      if (document.activeElement === document.body) target.focus({ preventScroll: true });
      lost = undefined;
    }
  });
  observer.observe(document.body, { subtree: true, attributes: true, attributeFilter: ['disabled'] });
  let outside: Element | undefined;
  document.addEventListener('focusin', ({ target }) => {
    lost = undefined;
    outside = target instanceof Element && target.closest('#content') === null ? target : undefined;
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Tab' || document.activeElement !== document.body || outside?.isConnected !== false) return;
    document.querySelector<HTMLElement>('#content')?.focus({ preventScroll: true });
  });
}
