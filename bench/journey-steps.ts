const set = (id: string, next?: string) => ({ id, type: 'update_field', field: 'name', value: id, next });

/** A journey of three steps that change something for each contact: a split, and two changes of the name. */
export const CHANGING_STEPS = [
  {
    id: 'half',
    type: 'split',
    branches: [
      { percent: 50, next: 'one' },
      { percent: 50, next: 'other' },
    ],
  },
  set('one', 'last'),
  set('other', 'last'),
  set('last'),
];
