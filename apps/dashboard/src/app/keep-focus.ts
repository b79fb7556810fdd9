/**
 * Restores the keyboard focus where browsers drop it. A button is disabled while its request runs, and a disabled button loses the focus;
 * in a dialog, the next Tab would then leave the dialog. A dialog or menu that disappears returns the focus to what opened it; if that was an
 * item of a menu, which is gone, to the menu's button. If that is gone too, the next Tab moves to the first control of the page. It would
 * otherwise leave the page, because dialogs are at the end of it.
 */
export function keepFocus(): void {
  let lost: HTMLButtonElement | undefined;
  /** The last focused element, if it is outside of the page, as in a dialog. */
  let outside: Element | undefined;
  /** The last focused element that is in no dialog and in no menu. */
  let opener: HTMLElement | undefined;
  const observer = new MutationObserver((changes) => {
    for (const { target, type } of changes) {
      if (type !== 'attributes' || !(target instanceof HTMLButtonElement)) continue;
      if (target.disabled && target === document.activeElement) lost = target;
      if (target.disabled || target !== lost) continue;
      if (document.activeElement === document.body) target.focus({ preventScroll: true });
      lost = undefined;
    }
    if (document.activeElement === document.body && outside?.isConnected === false)
      opener?.focus({ preventScroll: true });
  });
  observer.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['disabled'] });
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    lost = undefined;
    outside = target.closest('#content') === null ? target : undefined;
    if (target.closest('[role=dialog], [role=menu]') === null) opener = target;
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Tab' || document.activeElement !== document.body || outside?.isConnected !== false) return;
    document.querySelector<HTMLElement>('#content')?.focus({ preventScroll: true });
  });
}
