import { useEffect } from 'react'
import { ErrorPanel } from './error-panel.tsx'

/** Why a file cannot be had: nobody answers; the server is of another version, which has other files; or neither. */
export type Lack = 'unreachable' | 'outdated' | 'broken'

/** Asks for the page: it names its script, whose name changes with every version. */
export async function lackOf(): Promise<Lack> {
	const script = document.querySelector('script[type=module]')?.getAttribute('src') ?? ''
	const answer = await fetch('/app').catch(() => undefined)
	if (!answer?.ok) return 'unreachable'
	return (await answer.text()).includes(script) ? 'broken' : 'outdated'
}

const mark = 'remit reloaded'

/** Whether a page of another version has not just been loaded: servers of two versions beside each other must not send it round in circles. */
function mayReload(): boolean {
	if (Date.now() - Number(sessionStorage.getItem(mark)) < 60_000) return false
	sessionStorage.setItem(mark, String(Date.now()))
	return true
}

/** Loads the new version by itself where the page has nothing to lose. */
export function useNewVersion(lack: Lack | undefined): void {
	useEffect(() => {
		if (lack === 'outdated' && mayReload()) location.reload()
	}, [lack])
}

interface NotLoadedProps {
	readonly lack: Lack
	readonly onRetry: () => void
	/** When the connection is back. */
	readonly onOnline: () => void
}

/** In place of a part whose file cannot be had. */
export function NotLoaded({ lack, onRetry, onOnline }: NotLoadedProps) {
	useEffect(() => {
		addEventListener('online', onOnline)
		return () => removeEventListener('online', onOnline)
	})
	if (lack === 'outdated')
		return (
			<ErrorPanel
				isSmall
				title="There is a new version of Remit"
				advice="This part belongs to it. What you typed into a form comes back."
				retryText="Load the new version"
				onRetry={() => location.reload()}
			/>
		)
	return (
		<ErrorPanel
			isSmall
			title="This part cannot be loaded now"
			advice="Your connection or the server has a problem. What you typed and what you saw before is still here."
			onRetry={onRetry}
		/>
	)
}
