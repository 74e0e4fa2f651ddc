// Where the marks and bars of a chart stand.

/** The marks of an axis from 0 that reach over `most`: at most five, apart by 1, 2 or 5 of a power of ten. */
export function marksTo(most: number): number[] {
	const power = 10 ** Math.floor(Math.log10(most / 4))
	const step = ([1, 2, 5].find((of) => of * power * 4 >= most) ?? 10) * power
	return Array.from({ length: Math.ceil(most / step) + 1 }, (_, mark) => mark * step)
}
