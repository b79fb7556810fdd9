/**
 * Restores the keyboard focus where browsers drop it. A button is disabled while its request runs, and a disabled button loses the focus;
 * in a dialog, the next Tab would then leave the dialog. A dialog or menu that disappears returns the focus to what opened it; if that was an
 * item of a menu, which is gone, to the menu's button. If that is gone too, the next Tab moves to the first control of the page. It would
 * otherwise leave the page, because dialogs are at the end of it. If a row of a table is gone, the focus goes to the same place of the next row,
 * or else of the last.
 */
export function keepFocus(): void {
  let lost: HTMLButtonElement | undefined;
  /** The last focused element, if it is outside of the page, as in a dialog. */
  let outside: Element | undefined;
  /** The last focused element that is in no dialog and in no menu. */
  let opener: HTMLElement | undefined;
  /** Where in a table that was. */
  let place: RowPlace | undefined;
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
    if (document.activeElement === document.body && opener?.isConnected === false) place = focusNearby(place);
  });
  observer.observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['disabled'] });
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    lost = undefined;
    outside = target.closest('#content') === null ? target : undefined;
    if (target.closest('[role=dialog], [role=menu]') !== null) return;
    opener = target;
    place = placeOf(target);
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Tab' || document.activeElement !== document.body || outside?.isConnected !== false) return;
    document.querySelector<HTMLElement>('#content')?.focus({ preventScroll: true });
  });
}

/** A control of a row of a table. */
interface RowPlace {
  body: HTMLTableSectionElement;
  row: number;
  /** Its index among the controls of the row. */
  control: number;
}

const controlsIn = (row: Element | undefined) => [
  ...(row?.querySelectorAll<HTMLElement>('a[href], button, input, select, summary') ?? []),
];

function placeOf(control: HTMLElement): RowPlace | undefined {
  const row = control.closest<HTMLTableRowElement>('.data-table tbody tr');
  if (row === null) return undefined;
  const body = row.parentElement as HTMLTableSectionElement;
  return { body, row: row.sectionRowIndex, control: controlsIn(row).indexOf(control) };
}

/** Focuses what is now at a place of a table. @returns undefined: once. */
function focusNearby(place: RowPlace | undefined): undefined {
  if (place?.body.isConnected !== true) return;
  const { rows } = place.body;
  const near = controlsIn(rows[place.row] ?? rows[rows.length - 1]);
  (near[place.control] ?? near[0])?.focus({ preventScroll: true });
}
