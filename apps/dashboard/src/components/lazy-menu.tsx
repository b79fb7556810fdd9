import {
  type ComponentType,
  cloneElement,
  type ReactElement,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { withFormStyles } from '../app/lazy-page.ts';

/** A menu with its button. */
export interface LoadedMenuProps {
  button: ReactElement;
  opened: boolean;
  onChange: (opened: boolean) => void;
}

/** A button whose menu loads when it is first opened. The first page is shown without the code of menus. */
export function LazyMenu<Props extends object = object>({
  load,
  menu,
  button,
  onChange,
}: {
  load: () => Promise<ComponentType<LoadedMenuProps & Props>>;
  /** Other properties of the menu. */
  menu?: Props;
  button: ReactElement<ButtonProps>;
  /** Called when the menu is opened or closed. */
  onChange?: (opened: boolean) => void;
}) {
  const [Loaded, setLoaded] = useState<ComponentType<LoadedMenuProps & Props>>();
  const [opened, setOpened] = useState(false);
  const holder = useRef<HTMLSpanElement>(null);
  const hadFocus = useRef(false);
  // The menu's own button takes the place of the first one, and its focus.
  useLayoutEffect(() => {
    if (hadFocus.current) holder.current?.querySelector('button')?.focus({ preventScroll: true });
  }, [Loaded]);
  const change = (next: boolean) => {
    setOpened(next);
    onChange?.(next);
  };
  const openLoaded = useEffectEvent(() => change(true));
  // A menu that is closed at first returns the focus later.
  useEffect(() => {
    if (Loaded !== undefined) openLoaded();
  }, [Loaded]);
  const prepare = () => void withFormStyles(load).catch(() => {});
  const open = async () => {
    const loaded = await withFormStyles(load);
    hadFocus.current = holder.current?.contains(document.activeElement) === true;
    setLoaded(() => loaded);
  };
  return (
    <span ref={holder} className="holder">
      {Loaded === undefined ? (
        cloneElement(button, {
          onPointerEnter: prepare,
          onFocus: prepare,
          onClick: () => void open().catch(() => {}),
          'aria-haspopup': 'menu',
          'aria-expanded': false,
        })
      ) : (
        <Loaded {...(menu as Props)} button={button} opened={opened} onChange={change} />
      )}
    </span>
  );
}

interface ButtonProps {
  onPointerEnter?: () => void;
  onFocus?: () => void;
  onClick?: () => void;
  'aria-haspopup'?: 'menu';
  'aria-expanded'?: boolean;
}
