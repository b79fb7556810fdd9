/**
 * Gives the keyboard's focus back to buttons. A button is disabled while its request runs, and what is disabled loses the focus: in a dialog,
 * the next Tab would then leave the dialog.
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
  document.addEventListener('focusin', () => (lost = undefined));
}
