// Preloaded into a program whose machine has a wrong clock: it is ahead by as many milliseconds as CLOCK_AHEAD_MS says.
const Real = Date;
const now = () => Real.now() + Number(process.env.CLOCK_AHEAD_MS);

globalThis.Date = new Proxy(Real, {
  apply: () => new Real(now()).toString(),
  construct: (target, values, newTarget) =>
    Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
