import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { OpenIdOutcome } from '../api/addresses.ts'
import { read } from '../api/query.ts'
import { onOtherTab } from '../api/session-over.ts'
import { SignInForm } from '../forms/sign-in-form.tsx'
import { Banner } from '../ui/banner.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { Arrival } from './arrival.tsx'
import { EntryCard } from './entry-card.tsx'
import { goIn } from './go-in.ts'
import { safePath } from './return-to.ts'
import { SignOut } from './sign-out.tsx'

const route = getRouteApi('/sign-in')

export default function SignInPage() {
	const { returnTo, openid } = route.useSearch()
	const router = useRouter()
	const isSigningOut = useRouterState({ select: ({ location }) => location.state.isSigningOut })
	const { data: setup } = useQuery({ ...read('setup.get'), retry: false })
	const path = safePath(router, returnTo)
	useEffect(() => onOtherTab((personId) => personId !== null && goIn(personId, path)), [path])
	if (isSigningOut) return <SignOut />
	if (openid === 'done') return <Arrival path={path} />
	return (
		<EntryCard title="Sign in to Remit" below={<Link to="/reset">Forgot the password?</Link>}>
			{setup?.isOpen && (
				<div className="entry-open">
					<Banner tone="accent">
						Nobody can sign in here yet. The link to set up the first person is in what the server printed when it started.
					</Banner>
				</div>
			)}
			{openid && (
				<div className="entry-open">
					<ErrorPanel isSmall {...trouble(openid)} />
				</div>
			)}
			<SignInForm returnTo={path} onSignedIn={(personId) => goIn(personId, path)} />
		</EntryCard>
	)
}

const advice: Readonly<Record<Exclude<OpenIdOutcome, 'done'>, string>> = {
	denied: 'The provider let nobody in. Try again, or use your password.',
	unverified: 'The provider did not say that your e-mail address is verified. Verify it there, or use your password.',
	unknown: 'Nobody here has your e-mail address. Ask an admin of the organization to invite it.',
	failed: 'The way to the provider or back has failed. Try again, or use your password.',
}

const trouble = (outcome: Exclude<OpenIdOutcome, 'done'>) => ({
	title: 'Single sign-on has not worked',
	advice: advice[outcome],
	requestId: undefined,
	isRepeatable: false,
})
