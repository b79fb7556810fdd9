import { useEffect, useEffectEvent, useRef, useState } from 'react';

/** Tells one save of something from the next: it rises with each. */
type Version = number | string;

/** Something as the server has it. */
interface Saved<Content> {
  content: Content;
  version: Version;
}

/** Somebody else has saved something else in the same place meanwhile; which it is to be is for the person to say. */
export interface Conflict<Content> {
  /** What both changed. */
  fields: (keyof Content)[];
  seesTheirs: boolean;
  /** Shows what they wrote instead of one's own, or one's own again. */
  see: (theirs: boolean) => void;
  takeTheirs: () => void;
  keepMine: () => void;
}

/** Saves a content that was written on a version; answers with the version that came of it, or nothing when it was refused. */
type Save<Content> = (content: Content, version: Version) => Promise<Version | undefined>;

/** What is edited here and may be edited elsewhere at the same time. */
export interface VersionedForm<Content> {
  /** What is to be shown: one's own, unless theirs is looked at. */
  content: Content;
  set: (part: Partial<Content>) => void;
  isSaved: boolean;
  /** The version that this was written on. */
  version: Version;
  conflict: Conflict<Content> | undefined;
  /** Saves what is there by then, one save at a time; false when it was refused. */
  save: (save: Save<Content>) => Promise<boolean>;
}

const sameText = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Edits what was read. When somebody else saves it meanwhile, `read` comes with a newer version: what they changed is taken in
 * where nothing was typed here, and where both changed something it is asked about. Nothing that was typed is ever lost by it.
 * `units` are fields that mean something only together.
 */
export function useVersionedForm<Content extends object>(
  read: Saved<Content>,
  {
    units = [],
    same = sameText,
  }: { units?: (keyof Content)[][]; same?: (one: unknown, other: unknown) => boolean } = {},
): VersionedForm<Content> {
  const [state, setState] = useState({ base: read, mine: read.content });
  const [seesTheirs, see] = useState(false);
  const [isSaving, setSaving] = useState(false);
  // A save may begin before the page was drawn again, so it reads what is there from here.
  const now = useRef(state);
  const saving = useRef(Promise.resolve(true));
  const refused = useRef<Save<Content>>(undefined);
  const put = (next: typeof state) => {
    now.current = next;
    setState(next);
  };
  const save = (run: Save<Content>): Promise<boolean> => {
    saving.current = saving.current.then(async () => {
      setSaving(true);
      const { base, mine } = now.current;
      const version = await run(mine, base.version);
      refused.current = version === undefined ? run : undefined;
      if (version !== undefined) put({ base: { content: mine, version }, mine: now.current.mine });
      setSaving(false);
      return version !== undefined;
    });
    return saving.current;
  };

  const isNewer = !isSaving && read.version > state.base.version;
  const merged = isNewer ? merge(state.base.content, state.mine, read.content, { units, same }) : undefined;
  const takeIn = useEffectEvent(() => {
    if (merged?.fields.length !== 0) return;
    put({ base: read, mine: merged.mine });
    // It was refused for being written on an older version only.
    if (refused.current !== undefined) void save(refused.current);
  });
  useEffect(() => {
    if (isNewer) takeIn();
  }, [isNewer, read.version]);

  const decide = (mine: Content) => {
    refused.current = undefined;
    put({ base: read, mine });
    see(false);
  };
  const conflict =
    merged === undefined || merged.fields.length === 0
      ? undefined
      : {
          fields: merged.fields,
          seesTheirs,
          see,
          takeTheirs: () => decide(merged.theirs),
          keepMine: () => decide(merged.mine),
        };
  return {
    content: conflict?.seesTheirs === true && merged !== undefined ? merged.theirs : state.mine,
    set: (part) => {
      // An editor tells of each text that it is given, theirs too.
      if (conflict?.seesTheirs !== true) put({ ...now.current, mine: { ...now.current.mine, ...part } });
    },
    isSaved: keysOf(state.mine).every((key) => same(state.mine[key], state.base.content[key])),
    version: state.base.version,
    conflict,
    save,
  };
}

/** What both had changed since `base`, and the two ways to go on: with one's own there, or with theirs. */
function merge<Content extends object>(
  base: Content,
  mine: Content,
  theirs: Content,
  { units, same }: { units: (keyof Content)[][]; same: (one: unknown, other: unknown) => boolean },
): { fields: (keyof Content)[]; mine: Content; theirs: Content } {
  const differs = (unit: (keyof Content)[], one: Content, other: Content) =>
    unit.some((key) => !same(one[key], other[key]));
  const own = unitsOf(mine, units).filter((unit) => differs(unit, mine, base) && differs(unit, mine, theirs));
  const clashing = own.filter((unit) => differs(unit, theirs, base));
  const take = (taken: (keyof Content)[][]) =>
    Object.assign({ ...theirs }, ...taken.flat().map((key) => ({ [key]: mine[key] }))) as Content;
  return {
    fields: clashing.map(([first]) => first as keyof Content),
    mine: take(own),
    theirs: take(own.filter((unit) => !clashing.includes(unit))),
  };
}

function unitsOf<Content extends object>(content: Content, units: (keyof Content)[][]): (keyof Content)[][] {
  const bound = new Set(units.flat());
  const alone = keysOf(content).filter((key) => !bound.has(key));
  return [...units, ...alone.map((key) => [key])];
}

const keysOf = <Content extends object>(content: Content) => Object.keys(content) as (keyof Content)[];
