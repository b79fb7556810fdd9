import { expect, test } from 'vitest';
import { parseOptions, portsFrom, ROOT } from '../src/options.ts';

const env = { INIT_CWD: '/home/ada/somewhere' };

test('without options, data is kept in .postroom and the ports begin at 3400', () => {
  expect(parseOptions([], env)).toEqual({ dataDir: `${ROOT}/.postroom`, portBase: 3400, fresh: false, help: false });
});

test('--data is meant from where the person typed it', () => {
  expect(parseOptions(['--data', 'mine'], env).dataDir).toBe('/home/ada/somewhere/mine');
  expect(parseOptions(['--data=/tmp/x'], env).dataDir).toBe('/tmp/x');
});

test('all ports derive from --port-base', () => {
  const { portBase } = parseOptions(['--port-base', '4000'], env);
  expect(Object.values(portsFrom(portBase))).toEqual([4000, 4001, 4002, 4003, 4004, 4005, 4006, 4007]);
});

test.each([
  [['--port-base', '80'], '--port-base must be from 1024 to 65528, not "80".'],
  [['--port-base', '4e3'], '--port-base must be from 1024 to 65528, not "4e3".'],
  [['--port-base', '6000'], "Browsers block port 6000, so --port-base can't be 6000. Try 6010."],
  [['--port-base', '4041'], "Browsers block port 4045, so --port-base can't be 4041. Try 4051."],
  [['--port-bass', '4000'], "Unknown option '--port-bass'. See npm start -- --help."],
  [['4000'], "Unexpected argument '4000'. See npm start -- --help."],
  [['--data', '/'], '--data must name a dedicated folder, not /.'],
])('%j is refused with a sentence', (args, sentence) => {
  expect(() => parseOptions(args, env)).toThrow(sentence);
});
