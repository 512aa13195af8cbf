#!/usr/bin/perl
# An alignment of random amino acids for MrBayes, and a chain on it. Usage: alignment.pl SITES TAXA GENERATIONS
use strict;
use warnings;

my ($sites, $taxa, $generations) = @ARGV;
my @acids = split //, 'ARNDCQEGHILKMFPSTWYV';
my @rows = ('') x $taxa;
srand 1;
for (1 .. $sites) {
	my $acid = $acids[rand @acids];
	for my $row (@rows) {
		$acid = $acids[rand @acids] if rand() < 0.2;
		$row .= $acid;
	}
}
print "#NEXUS\nbegin data;\ndimensions ntax=$taxa nchar=$sites;\nformat datatype=protein;\nmatrix\n";
print "t$_ $rows[$_]\n" for 0 .. $#rows;
print <<END;
;
end;
begin mrbayes;
set autoclose=yes nowarn=yes seed=7 swapseed=7;
lset rates=gamma ngammacat=4;
prset aamodelpr=fixed(wag);
mcmc ngen=$generations nruns=1 nchains=1 samplefreq=2 printfreq=10 diagnfreq=1000 filename=in.nex;
end;
END
