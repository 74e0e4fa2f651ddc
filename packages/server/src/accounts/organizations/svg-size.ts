// How much an SVG shows. A `use` shows what it refers to, and a clip path is drawn for each shape that it clips: a few dozen of
// them that refer to each other would show millions of shapes.

export interface SvgElement {
	readonly children: SvgElement[]
	/** The ids of what is shown or drawn along with it. */
	readonly refersTo: readonly string[]
}

/** How many elements are drawn in all; Infinity when one refers to itself. */
export function drawnElements(root: SvgElement, byId: ReadonlyMap<string, readonly SvgElement[]>): number {
	const known = new Map<SvgElement, number>()
	const count = (element: SvgElement): number => {
		const before = known.get(element)
		if (before !== undefined) return before
		known.set(element, Number.POSITIVE_INFINITY)
		let drawn = 1
		for (const child of element.children) drawn += count(child)
		for (const id of element.refersTo) for (const other of byId.get(id) ?? []) drawn += count(other)
		known.set(element, drawn)
		return drawn
	}
	return count(root)
}

const oneReference = /^\s*url\(\s*(["']?)#([^\s"'()%]+)\1\s*\)\s*$/i
const declaration = /clip-path\s*:([^;!]*)/gi

/** The ids that an attribute refers to for more to be drawn, or undefined when that cannot be told. */
export function referencesOf(element: string, attribute: string, value: string): readonly string[] | undefined {
	if (attribute === 'clip-path') return clipsOf([value])
	if (attribute === 'style') {
		const values = [...value.matchAll(declaration)].map(([, found = '']) => found)
		return values.length === value.split(/clip-path/i).length - 1 ? clipsOf(values) : undefined
	}
	if (element !== 'use' || (attribute !== 'href' && !attribute.endsWith(':href'))) return []
	return value.includes('%') ? undefined : [value.trim().slice(1)]
}

function clipsOf(values: readonly string[]): readonly string[] | undefined {
	const ids = values.filter((value) => value.trim() !== 'none').map((value) => oneReference.exec(value)?.[2])
	return ids.every((id) => id !== undefined) ? ids : undefined
}
