/**
 * Restores the keyboard focus where browsers drop it. A button is disabled while its request runs, and a disabled button loses the focus;
 * in a dialog, the next Tab would then leave the dialog. If a closed dialog cannot return the focus, because the button that opened it is
 * gone, the next Tab moves to the first control of the page. It would otherwise leave the page, because dialogs are at the end of it.
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
  /** The last focused element, if it is outside of the page, as in a dialog. */
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
