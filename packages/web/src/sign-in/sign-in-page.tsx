import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useRouter, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { read } from '../api/query.ts'
import { onOtherTab } from '../api/session-over.ts'
import { SignInForm } from '../forms/sign-in-form.tsx'
import { Banner } from '../ui/banner.tsx'
import { EntryCard } from './entry-card.tsx'
import { goIn } from './go-in.ts'
import { safePath } from './return-to.ts'
import { SignOut } from './sign-out.tsx'

const route = getRouteApi('/sign-in')

export default function SignInPage() {
	const { returnTo } = route.useSearch()
	const router = useRouter()
	const isSigningOut = useRouterState({ select: ({ location }) => location.state.isSigningOut })
	const { data: setup } = useQuery({ ...read('setup.get'), retry: false })
	const path = safePath(router, returnTo)
	useEffect(() => onOtherTab((personId) => personId !== null && goIn(personId, path)), [path])
	if (isSigningOut) return <SignOut />
	return (
		<EntryCard title="Sign in to Remit" below={<Link to="/reset">Forgot the password?</Link>}>
			{setup?.isOpen && (
				<div className="entry-open">
					<Banner tone="accent">
						Nobody can sign in here yet. The link to set up the first person is in what the server printed when it started.
					</Banner>
				</div>
			)}
			<SignInForm onSignedIn={(personId) => goIn(personId, path)} />
		</EntryCard>
	)
}
