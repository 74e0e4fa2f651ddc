// Most visits show no toast, so what draws them is loaded with the first one.

let show: (() => void) | undefined

/** Calls back at the first toast; returns how to stop that. */
export function onFirstToast(callback: () => void): () => void {
	show = callback
	return () => {
		show = undefined
	}
}

export const needToasts = (): void => show?.()
