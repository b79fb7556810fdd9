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
  body: Element;
  row: number;
  /** The index of its cell, and of the control in the cell. */
  cell: number;
  control: number;
}

const CONTROLS = 'a[href], button, input, select, summary';

const controlsIn = (cell: Element | undefined) => [...(cell?.querySelectorAll<HTMLElement>(CONTROLS) ?? [])];

function placeOf(control: Element): RowPlace | undefined {
  const cell = control.closest('.data-table tbody td');
  const row = cell?.parentElement;
  if (cell == null || row?.parentElement == null) return undefined;
  const { parentElement: body } = row;
  return {
    body,
    row: [...body.children].indexOf(row),
    cell: [...row.children].indexOf(cell),
    control: controlsIn(cell).indexOf(control as HTMLElement),
  };
}

/** Focuses what is now at a place of a table. @returns undefined: once. */
function focusNearby(place: RowPlace | undefined): undefined {
  if (place?.body.isConnected !== true) return;
  const { body, row, cell, control } = place;
  const near = body.children[row] ?? [...body.children].at(-1);
  const there = controlsIn(near?.children[cell]);
  (there[control] ?? there[0] ?? controlsIn(near)[0])?.focus({ preventScroll: true });
}
