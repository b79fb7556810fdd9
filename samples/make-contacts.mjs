// Writes a CSV of made-up contacts to standard output. The same arguments give the same file.
//
//   node samples/make-contacts.mjs > samples/contacts.csv             1,000 good rows
//   node samples/make-contacts.mjs --rows 10000 --rough > rough.csv   with every kind of bad row in between
//
// All addresses are in domains that are reserved for examples, so that no mail can reach a stranger. Some are of the development
// inbox, whose readers open what they get, and follow a link: docs/how-to/inbox.md.
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    rough: { type: 'boolean' },
  },
});

/** Given names, family names and cities that occur together. Non-Latin names carry the form used in the address. */
const PLACES = [
  {
    given: [
      'Emma',
      'Olivia',
      'James',
      'Liam',
      'Ava',
      'Noah',
      'Charlotte',
      'Ethan',
      'Grace',
      'Marcus',
      'Priscilla',
      'Wyatt',
    ],
    family: [
      'Smith',
      "O'Brien",
      'Walker',
      "D'Angelo",
      'Lee-Thompson',
      'McKenzie',
      'Carter',
      'Nguyen',
      'Fitzgerald',
      'Wu',
    ],
    cities: [
      'Chicago',
      'Washington, D.C.',
      'Austin, TX',
      'Boston',
      'St. John’s',
      'Dublin',
      'Auckland',
      'Coeur d’Alene',
    ],
  },
  {
    given: ['Jürgen', 'Käthe', 'Björn', 'Mareike', 'Sören', 'Anneliese', 'Götz', 'Friederike'],
    family: ['Müller', 'Groß', 'von der Heide', 'Schäfer', 'Strauß-Köhler', 'Weiß', 'Krüger', 'Öztürk'],
    cities: ['Köln', 'München', 'Zürich', 'Frankfurt (Oder)', 'Düsseldorf', 'Wien', 'Görlitz'],
  },
  {
    given: ['Éloïse', 'François', 'Chloé', 'Jérôme', 'Maëlle', 'Noël', 'Zoé', 'Benoît'],
    family: ['Lefèvre', 'Dubois', 'L’Hermitte', 'de La Tour', 'Gagné', 'Bélanger', 'Çelik'],
    cities: ['Paris', 'Saint-Étienne', 'Montréal, QC', 'Genève', 'Orléans', 'Nîmes'],
  },
  {
    given: ['José', 'María', 'Íñigo', 'Ángela', 'João', 'Conceição', 'Begoña', 'Núria', 'Antônio'],
    family: ['García Márquez', 'Peña', 'Gonçalves', 'Ibáñez', 'Araújo', 'Núñez', 'Muñoz y Ortega', 'Assunção'],
    cities: ['São Paulo', 'Ciudad de México', 'Córdoba', 'Logroño', 'Bogotá, D. C.', 'Lisboa', 'Brasília'],
  },
  {
    given: ['Łukasz', 'Żaneta', 'Zbigniew', 'Jiří', 'Šárka', 'Ždeněk', 'Gergő', 'Zsófia', 'Ștefan', 'Ilinca'],
    family: ['Wiśniewski', 'Dąbrowska', 'Dvořák', 'Černý', 'Nagy', 'Szőke', 'Țepeș', 'Brânză', 'Kovačević'],
    cities: ['Łódź', 'Kraków', 'Plzeň', 'České Budějovice', 'Győr', 'Cluj-Napoca', 'Iași', 'Niš'],
  },
  {
    given: ['Åsa', 'Bjørn', 'Søren', 'Þóra', 'Sigríður', 'Øystein', 'Väinö', 'Kaisa'],
    family: ['Ångström', 'Sørensen', 'Guðmundsdóttir', 'Hämäläinen', 'Bjørkli', 'Sjöberg', 'Æbelø'],
    cities: ['Århus', 'Tromsø', 'Reykjavík', 'Jyväskylä', 'Malmö', 'Ålesund'],
  },
  {
    given: [
      ['Анна', 'anna'],
      ['Дмитрий', 'dmitri'],
      ['Оксана', 'oksana'],
      ['Георги', 'georgi'],
      ['Святослав', 'sviatoslav'],
    ],
    family: [
      ['Иванова', 'ivanova'],
      ['Шевченко', 'shevchenko'],
      ['Щербаков', 'shcherbakov'],
      ['Димитров', 'dimitrov'],
    ],
    cities: ['Київ', 'София', 'Львів', 'Пловдив', 'Алматы'],
  },
  {
    given: [
      ['Ελένη', 'eleni'],
      ['Γιώργος', 'giorgos'],
      ['Δήμητρα', 'dimitra'],
      ['Νίκος', 'nikos'],
    ],
    family: [
      ['Παπαδοπούλου', 'papadopoulou'],
      ['Οικονόμου', 'oikonomou'],
      ['Αγγελής', 'angelis'],
    ],
    cities: ['Αθήνα', 'Θεσσαλονίκη', 'Λευκωσία'],
  },
  {
    given: [
      ['伟', 'wei'],
      ['芳', 'fang'],
      ['美玲', 'meiling'],
      ['さくら', 'sakura'],
      ['健太', 'kenta'],
      ['민준', 'minjun'],
      ['서연', 'seoyeon'],
    ],
    family: [
      ['王', 'wang'],
      ['李', 'li'],
      ['佐藤', 'sato'],
      ['髙橋', 'takahashi'],
      ['김', 'kim'],
      ['박', 'park'],
    ],
    cities: ['上海', '東京', '大阪', '서울', '臺北', '부산'],
    familyFirst: true,
  },
  {
    given: [
      ['ليلى', 'layla'],
      ['محمد', 'mohammed'],
      ['נועה', 'noa'],
      ['آرش', 'arash'],
      ['प्रिया', 'priya'],
      ['அருண்', 'arun'],
      ['สมชาย', 'somchai'],
    ],
    family: [
      ['الحداد', 'alhaddad'],
      ['כהן', 'cohen'],
      ['رضایی', 'rezaei'],
      ['शर्मा', 'sharma'],
      ['இராமன்', 'raman'],
      ['แสงทอง', 'saengthong'],
    ],
    cities: ['القاهرة', 'تهران', 'मुंबई', 'சென்னை', 'กรุงเทพฯ', 'تل أبيب'],
  },
];
const DOMAINS = [
  'example.com',
  'example.org',
  'example.net',
  'mail.example.com',
  'office.example.org',
  'uni.example.net',
  'bakery.example',
  'post.example',
];
/** The development inbox reads mail to these. */
const READERS = ['opened', 'opened', 'clicked'];
const PLANS = ['free', 'free', 'free', 'starter', 'starter', 'team', 'team', 'enterprise'];
const NICKNAMES = ['Bee', 'Ace', 'The Duke', 'Jo, Jr.', 'Sunny'];

/** mulberry32: small, and the same on every machine. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomFrom(Number(options.seed));
const below = (limit) => Math.floor(random() * limit);
const pick = (list) => list[below(list.length)];
const chance = (share) => random() < share;
const written = (name) => (Array.isArray(name) ? name[0] : name);

/** The name as it stands in an address: ASCII letters only. */
function inAddress(name) {
  const latin = Array.isArray(name) ? name[1] : name;
  const letters = { ß: 'ss', ø: 'o', ł: 'l', þ: 'th', ð: 'd', æ: 'ae', ı: 'i' };
  return latin
    .toLowerCase()
    .normalize('NFD')
    .replace(/[ßøłþðæı]/g, (letter) => letters[letter])
    .replace(/[^a-z]/g, '');
}

const taken = new Set();
/** An address that no earlier row has: a number is added when people share a name, as mail hosts do. */
function addressOf(given, family) {
  const shapes = [
    `${given}.${family}`,
    `${given}${family.slice(0, 1)}`,
    `${given.slice(0, 1)}.${family}`,
    `${given}_${family}`,
    `${given}+news`,
  ];
  const reads = chance(0.3);
  const wanted = reads ? `${pick(READERS)}+${pick(shapes)}` : pick(shapes);
  const domain = reads ? 'simulator.invalid' : pick(DOMAINS);
  let local = wanted;
  for (let number = 2; taken.has(`${local}@${domain}`); number += 1) local = `${wanted}${number}`;
  taken.add(`${local}@${domain}`);
  return `${chance(0.04) ? local.toUpperCase() : local}@${domain}`;
}

function fullName(given, family, familyFirst) {
  if (familyFirst) return `${family}${given}`;
  if (chance(0.03)) return `${given} "${pick(NICKNAMES)}" ${family}`;
  if (chance(0.03)) return `${family}, ${given}`;
  if (chance(0.02)) return `Dr. ${given} ${family}, PhD`;
  return `${given} ${family}`;
}

function signedUp() {
  const day = new Date(Date.UTC(2021, 0, 4) + below(365 * 5 + 300) * 86_400_000);
  return day.toISOString().slice(0, 10);
}

function contact() {
  const place = pick(PLACES);
  const given = pick(place.given);
  const family = pick(place.family);
  const plan = pick(PLANS);
  const seats = { free: 1, starter: 1 + below(5), team: 5 + below(60), enterprise: 100 + below(900) }[plan];
  return {
    email: addressOf(inAddress(given), inAddress(family)),
    name: chance(0.03) ? '' : fullName(written(given), written(family), place.familyFirst),
    city: chance(0.05) ? '' : pick(place.cities),
    plan,
    seats: String(seats),
    signed_up: chance(0.02) ? '' : signedUp(),
  };
}

const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
const line = (row) => Object.values(row).map(quoted).join(',');

/** What can be odd about a row, one function each. Those with only an address, or with several lines in a cell, are fine. */
const ROUGH = [
  (row) => line({ ...row, email: row.email.replace('@', ' at ') }),
  (row) => line({ ...row, email: '' }),
  (row) => line({ ...row, email: row.email.replace('@', '@@') }),
  (row) => line({ ...row, seats: 'a few' }),
  (row) => line({ ...row, signed_up: '31.02.2024' }),
  (row) => `${line(row)},surplus`,
  (row) => quoted(row.email),
  (row, earlier) => line({ ...row, email: `  ${earlier.email.toUpperCase()} ` }),
  (row) => line({ ...row, city: 'Second floor\nBuilding "C"\nOslo' }),
];

const rows = [];
const lines = ['email,name,city,plan,seats,signed_up'];
for (let number = 0; number < Number(options.rows); number += 1) {
  const row = contact();
  const spoil = options.rough && number > 0 && number % 50 === 0 ? ROUGH[(number / 50) % ROUGH.length] : undefined;
  lines.push(spoil ? spoil(row, pick(rows)) : line(row));
  rows.push(row);
}
process.stdout.write(`${lines.join('\n')}\n`);
