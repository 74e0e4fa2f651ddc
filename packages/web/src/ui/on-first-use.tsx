// Parts of the application whose file is loaded when they are first shown: pages, dialogs, the lists of menus. Something stands in the place
// of such a part until it is there, and when it cannot be had, so that what is around it stays.
import { type ComponentType, useEffect, useReducer, useRef } from 'react'
import { type Lack, lackOf, NotLoaded } from './not-loaded.tsx'
import { InPlace, type InPlaceOf } from './places.tsx'

const whenIdle = globalThis.requestIdleCallback ?? ((load: () => void) => load())

/** So long a page has the line and the processor for itself. */
const patience = 3_000

/** Does the work once a page has had some seconds for itself; never for whoever saves data. Returns how to leave it. */
export function whenQuiet(work: () => void): () => void {
	if ((globalThis.navigator as { connection?: { saveData?: boolean } } | undefined)?.connection?.saveData) return () => {}
	const timer = setTimeout(() => whenIdle(work), patience)
	return () => clearTimeout(timer)
}

type Load<Props> = () => Promise<{ default: ComponentType<Props> }>
type Place<Props> = ComponentType<Props & InPlaceOf>

type Fetch = () => Promise<void>

const queue: Fetch[] = []
let isFetching = false

/** Fetches files one after the other, while the browser has nothing else to do. One that cannot be had is loaded when it is shown. */
export async function fetchWhenIdle(...files: readonly Fetch[]): Promise<void> {
	queue.unshift(...files)
	if (isFetching) return
	isFetching = true
	for (let next = queue.shift(); next; next = queue.shift()) {
		await new Promise<void>((isIdle) => whenIdle(() => isIdle()))
		await next().catch(() => {})
	}
	isFetching = false
}

/** A part whose file is loaded when it is first shown, or by `preload`, which never rejects, or by `fetch`, which does. */
export function lazyFile<Props extends object>(load: Load<Props>, Place: Place<Props>) {
	let Part: ComponentType<Props> | undefined
	let lack: Lack | undefined
	let loading: Promise<void> | undefined
	const shown = new Set<() => void>()
	const change = (to?: Lack) => {
		lack = to
		for (const draw of shown) draw()
	}
	const fetch = async () => {
		if (Part) return
		Part = (await load()).default
		change()
	}
	const preload = () => {
		if (Part || loading) return loading
		change()
		loading = fetch()
			.catch(async () => change(await lackOf()))
			.finally(() => {
				loading = undefined
			})
		return loading
	}
	const retry = async () => {
		const before = lack
		await preload()
		// Some browsers keep that a file was not to be had for as long as the page is open.
		if (before === 'broken' && lack === 'broken') location.reload()
	}
	function Lazy(props: Props) {
		const [, draw] = useReducer((count: number) => count + 1, 0)
		const dialog = useRef<HTMLDialogElement>(null)
		useEffect(() => {
			const show = () => {
				if (Part) dialog.current?.close()
				draw()
			}
			shown.add(show)
			// What is missing in another place is asked for once more.
			if (!Part && (!lack || shown.size > 1)) void preload()
			return () => {
				shown.delete(show)
				if (shown.size === 0) lack = undefined
			}
		}, [])
		if (Part) return <Part {...props} />
		const failed = lack && <NotLoaded lack={lack} onRetry={() => void retry()} onOnline={() => void preload()} />
		return <Place {...props} failed={failed} lack={lack} dialog={dialog} />
	}
	return Object.assign(Lazy, { preload, fetch })
}

/** A part that a page does not need to be seen: its file is loaded some seconds later, or when it is first shown. */
export function onFirstUse<Props extends object>(load: Load<Props>, Place: Place<Props> = InPlace) {
	const part = lazyFile(load, Place)
	whenQuiet(() => void fetchWhenIdle(part.fetch))
	return part
}
