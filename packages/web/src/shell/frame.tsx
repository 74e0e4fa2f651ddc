import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Outlet, useRouter } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { Suspense, useDeferredValue, useEffect, useState } from 'react'
import { sessionQuery } from '../api/session.ts'
import { goOn, onOtherTab, onSessionOver, startAfresh } from '../api/session-over.ts'
import { forgetDrafts } from '../forms/draft.ts'
import { InDialog, InNoPlace } from '../ui/places.tsx'
import '../ui/button.css'
import { onFirstToast } from '../ui/first-toast.ts'
import { onFirstUse } from '../ui/on-first-use.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { Navigation } from './navigation.tsx'
import { Offline } from './offline.tsx'
import { useKeys } from './use-keys.ts'
import { UserMenu } from './user-menu.tsx'
import './frame.css'

const Palette = onFirstUse(() => import('./palette.tsx'), InDialog)
const KeyHelp = onFirstUse(() => import('./key-help.tsx'), InDialog)
const SessionOver = onFirstUse(() => import('./session-over.tsx'), InDialog)
const Toasts = onFirstUse(() => import('../ui/toasts.tsx'), InNoPlace)

type Overlay = 'palette' | 'help'

/** What stays around every page: the places on the side, or at the foot of a phone, and what floats above. */
export function Frame() {
	const [overlay, setOverlay] = useState<Overlay>()
	// Apart from the others, none of which takes its place: requests wait for its answer.
	const [isOver, setOver] = useState(false)
	const [hasToasts, setToasts] = useState(false)
	useEffect(() => onFirstToast(() => setToasts(true)), [])
	const client = useQueryClient()
	const { navigate } = useRouter()
	useEffect(() => {
		const known = () => client.getQueryData(sessionQuery.queryKey)
		const here = () => location.pathname.slice('/app'.length) + location.search
		// Several requests may be refused, the last of them when the way to sign in has begun.
		const toSignIn = () =>
			here().startsWith('/sign-in') || navigate({ to: '/sign-in', search: { returnTo: here() }, replace: true })
		const stopHearing = onSessionOver(() => (known() ? setOver(true) : void toSignIn()))
		const stopListening = onOtherTab((personId) => {
			if (personId === null) return startAfresh(`/sign-in?returnTo=${encodeURIComponent(here())}`)
			if (personId !== known()?.personId) {
				forgetDrafts()
				return startAfresh('/')
			}
			goOn()
			setOver(false)
		})
		return () => {
			stopHearing()
			stopListening()
		}
	}, [client, navigate])
	useKeys({ help: () => setOverlay('help'), palette: () => isOver || setOverlay('palette'), go: (to) => void navigate({ to }) })
	const close = () => setOverlay(undefined)
	return (
		<div className="frame">
			<a href="#page" className="skip">
				Skip to the page
			</a>
			<header className="side">
				<div className="brand">
					<svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
						<rect width="32" height="32" rx="8" fill="var(--accent)" />
						<path d="M10 8h8a5 5 0 0 1 1 9.9L23 24h-4l-3.6-6H13v6h-3zm3 3v4h4.6a2 2 0 0 0 0-4z" fill="var(--on-accent)" />
					</svg>
					<span>Remit</span>
				</div>
				<button type="button" className="find" onClick={() => setOverlay('palette')}>
					<Search size={16} aria-hidden="true" />
					<span>Search</span>
					<kbd>{/Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K'}</kbd>
				</button>
				<Navigation>
					<button type="button" className="place phone-only" onClick={() => setOverlay('palette')}>
						<Search size={18} aria-hidden="true" />
						<span>Search</span>
					</button>
				</Navigation>
				<div className="me">
					<UserMenu onKeys={() => setOverlay('help')} />
				</div>
			</header>
			<main id="page" className="page">
				<Offline />
				<Suspense fallback={<Skeleton />}>
					<Page />
				</Suspense>
			</main>
			{hasToasts && <Toasts />}
			{overlay === 'palette' && <Palette onClose={close} />}
			{overlay === 'help' && <KeyHelp onClose={close} />}
			{isOver && <SessionOver onReturn={() => setOver(false)} />}
		</div>
	)
}

/** Waits for the session, since a part of a page that alone asked for it would take what is shown away again. */
function Page() {
	const { isPending } = useQuery(sessionQuery)
	return useDeferredValue(isPending) ? <Skeleton /> : <Outlet />
}
